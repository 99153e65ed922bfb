import { answersWhileLocked } from '../../../testkit/listing-rules/faults.ts';

answersWhileLocked('brands', '');
