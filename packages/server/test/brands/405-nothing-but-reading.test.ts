import { isReadOnly } from '../support/methods.ts';

isReadOnly('brands');
