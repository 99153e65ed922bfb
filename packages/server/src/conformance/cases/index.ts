import type { Case } from '../case.ts';
import { access } from './access.ts';
import { burst } from './burst.ts';
import { cursors } from './cursors.ts';
import { everyAnswer } from './every-answer.ts';
import { http } from './http.ts';
import { filters, pages } from './pages.ts';
import { parameters } from './parameters.ts';
import { records } from './records.ts';

/** All cases, in the order of the report. The last ones look at all answers of the others. */
export const allCases: readonly Case[] = [
  ...records,
  ...pages,
  ...filters,
  ...cursors,
  ...parameters,
  ...access,
  ...http,
  ...burst,
  ...everyAnswer,
];
