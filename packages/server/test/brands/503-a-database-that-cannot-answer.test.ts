import { answersWhileLocked } from '../support/faults.ts';

answersWhileLocked('brands', '');
