import { refusesForeignCursors } from '../../../testkit/listing-rules/cursors.ts';

refusesForeignCursors('brands');
