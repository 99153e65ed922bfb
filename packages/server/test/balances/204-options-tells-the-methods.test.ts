import { tellsItsMethods } from '../../../testkit/listing-rules/methods.ts';

tellsItsMethods('balances');
