/** The outcomes that a receipt can have, for filters: a mistyped one must not look like "nobody read it". */
import { errorCatalogue } from '@partner-network/contract/errors';
import { rehearsedOutcomes } from '@partner-network/service/rehearsals/scenarios';

const outcomes = ['GRANTED', ...Object.keys(errorCatalogue), ...Object.values(rehearsedOutcomes)];

export const someOutcome = 'GRANTED or the code of an error, such as GRANT_REVOKED';

export function isOutcome(text: string): boolean {
  return outcomes.includes(text);
}
