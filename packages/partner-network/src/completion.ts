/** Prints scripts that complete command lines: a table of words, and a small function for each shell. */
import { type Command, command } from '@partner-network/common/command-line/command';
import { oneOf } from '@partner-network/common/command-line/options';

type Entries = readonly { readonly name: string; readonly load: () => Promise<Command> }[];

/** Stands for the names of files. */
const files = '@files';

function wordsFor(valueName: string, values: readonly string[] | undefined): readonly string[] {
  return values ?? (/^(?:FILE|PATH|DIR)$/.test(valueName) ? [files] : []);
}

/** The words that may follow what was typed: nothing, a group, a command, or "COMMAND=--flag". */
async function tableOf(entries: Entries): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const table = new Map<string, Set<string>>();
  const add = (typed: string, ...words: readonly string[]) =>
    table.set(typed, new Set([...(table.get(typed) ?? []), ...words]));
  add('', '--help', '--version', '--no-color');
  for (const { name, load } of entries) {
    const [group = '', word] = name.split(' ');
    add('', group);
    if (word !== undefined) add(group, word);
    const { options, arguments: named = [], program } = await load();
    add(name, '--help', '--no-color', ...named.flatMap(({ name, read }) => wordsFor(name, read?.values)));
    if (program !== undefined) add(name, '--');
    for (const [flag, { valueName, values, isSecret }] of Object.entries(options)) {
      if (isSecret) continue;
      add(name, `--${flag}`);
      if (valueName !== undefined) add(`${name}=--${flag}`, ...wordsFor(valueName, values));
    }
  }
  return table;
}

/** Functions of a POSIX shell, without single quotes. Words after `--` are a program with its files. */
async function lookup(entries: Entries): Promise<string> {
  const table = [...(await tableOf(entries))];
  // Many flags have the same words.
  const cases = Object.entries(Object.groupBy(table, ([, words]) => [...words].join(' ')));
  const lines = cases.map(
    ([words, all]) => `  ${all!.map(([typed]) => `"${typed}"`).join('|')}) echo "${words}" ;;`,
  );
  return `_partner_network_words() {
  case "$1" in
${lines.join('\n')}
  *) return 1 ;;
  esac
}
_partner_network_next() {
  local last=
  for last; do [ "$last" = -- ] && echo ${files} && return; done
  _partner_network_words "\${1-} \${2-}=$last" || _partner_network_words "\${1-}=$last" ||
    _partner_network_words "\${1-} \${2-}" || _partner_network_words "\${1-}"
}`;
}

const shells = {
  bash: (functions: string) => `${functions}
_partner_network() {
  local word=\${COMP_WORDS[COMP_CWORD]} words
  words=$(_partner_network_next "\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=()
  if [[ $words == *${files}* && $word != -* ]]; then compopt -o default; return; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _partner_network partner-network`,

  zsh: (functions: string) => `#compdef partner-network
${functions}
_partner_network() {
  local found=$(_partner_network_next "\${(@)words[2,CURRENT-1]}")
  if [[ $found == *${files}* && $PREFIX != -* ]]; then _files; else compadd -- \${=found}; fi
}
[[ $funcstack[1] == _partner-network ]] || { compdef _partner_network partner-network; return; }
_partner_network`,

  fish: (functions: string) => `function __partner_network
  set -l words (sh -c '${functions}
_partner_network_next "$@"' sh (commandline -opc)[2..])
  if string match -q '*${files}*' -- $words && not string match -q -- '-*' (commandline -ct)
    __fish_complete_path (commandline -ct)
  else
    string split -n ' ' -- $words
  end
end
complete -c partner-network -f -a '(__partner_network)'`,
};

export const completionOf = (entries: Entries) =>
  command({
    arguments: [{ name: 'SHELL', help: 'bash, zsh or fish', read: oneOf(Object.keys(shells)) }],
    options: {},
    run: async (_values, [shell], output) =>
      output.answer(shells[shell as keyof typeof shells](await lookup(entries))),
  });
