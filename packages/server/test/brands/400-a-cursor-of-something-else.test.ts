import { refusesForeignCursors } from '../support/cursors.ts';

refusesForeignCursors('brands');
