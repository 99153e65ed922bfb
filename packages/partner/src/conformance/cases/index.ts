import { access } from './access.ts';
import { answers } from './answers.ts';
import { http } from './http.ts';
import { pages } from './pages.ts';
import { parameters } from './parameters.ts';
import { records } from './records.ts';

/** All cases. The last ones look at the answers of all others. */
export const allCases = [records, pages, parameters, access, http, answers].flat();
