/** The settings of a session. */

/** `pg` parses times in this style only. */
export const timeStyle = '-c datestyle=ISO';

/**
 * Settings that allow index scans only. Without statistics, as after a large import, the planner would choose
 * to read or sort whole tables, and the prepared statement would keep that plan.
 */
export const indexScansOnly = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  jit: 'off',
};

/** The settings of a session that serves requests. On Citus, `examine` sets another plan_cache_mode. */
export const planSettings = [
  ...Object.entries(indexScansOnly).map(([name, value]) => `-c ${name}=${value}`),
  '-c plan_cache_mode=force_generic_plan',
  timeStyle,
].join(' ');
