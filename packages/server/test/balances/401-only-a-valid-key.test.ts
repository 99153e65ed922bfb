import { requiresKey } from '../../../testkit/listing-rules/credentials.ts';

requiresKey('balances', '?customer_id=alice&type=CHECKING');
