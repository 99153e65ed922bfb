// Shows the button that copies a new key. Without scripts it stays hidden.
const button = document.querySelector('#copy');

button.hidden = false;
button.addEventListener('click', async () => {
  const key = document.querySelector('.secret');
  try {
    await navigator.clipboard.writeText(key.textContent);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(key);
    button.textContent = 'Now copy the selected key';
  }
});
