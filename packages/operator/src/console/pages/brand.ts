/** A brand: its record without the metadata, and its partner. */
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { code, facts, idLink, text, time } from '../parts.ts';
import type { Visit } from '../visit.ts';

export async function brandPage({ reads, ids }: Visit): Promise<Page> {
  const brand = await reads.brand(ids.partner_id!, ids.id!);
  const { id, partner_id, name, reference_id, color, profile_image_url: image } = brand;
  return {
    title: name,
    body: html`<h1>${text(name)}</h1>
${facts([
  ['Brand', code(id)],
  ['Partner', idLink('partners', partner_id)],
  ['Reference', code(reference_id)],
  ['Color', color],
  ['Image', image === undefined ? 'none: partners get a placeholder' : text(image)],
  ['Created (UTC)', time(brand.created_at)],
  ['Updated (UTC)', time(brand.updated_at)],
])}`,
  };
}
