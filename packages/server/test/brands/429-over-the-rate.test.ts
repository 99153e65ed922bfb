import { isLimited } from '../../../testkit/listing-rules/rate.ts';

isLimited('brands', '');
