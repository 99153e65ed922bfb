import { requiresKey } from '../support/credentials.ts';

requiresKey('brands', '');
