import { isLimited } from '../support/rate.ts';

isLimited('brands', '');
