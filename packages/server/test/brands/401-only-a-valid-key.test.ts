import { requiresKey } from '../../../testkit/listing-rules/credentials.ts';

requiresKey('brands', '');
