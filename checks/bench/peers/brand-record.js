/** The JSON of a brand, for the peers whose rows are objects of a model. */

const { PUBLIC_URL } = process.env;

/** Fields that are undefined are left out. */
export function recordOf(brand) {
  return {
    id: brand.id,
    name: brand.name,
    created_at: brand.created_at,
    updated_at: brand.updated_at,
    reference_id: brand.reference_id,
    color: brand.color ?? undefined,
    profile_image_url: brand.profile_image_url ?? `${PUBLIC_URL}/assets/brand-placeholder.png`,
    metadata: brand.metadata ?? undefined,
  };
}
