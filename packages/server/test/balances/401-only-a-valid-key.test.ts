import { requiresKey } from '../support/credentials.ts';

requiresKey('balances', '?customer_id=alice&type=CHECKING');
