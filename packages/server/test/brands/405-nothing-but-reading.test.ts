import { isReadOnly } from '../../../testkit/listing-rules/methods.ts';

isReadOnly('brands');
