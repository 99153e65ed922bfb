-- Refused listings of brands leave receipts, too. Instances of older versions write none of them.
alter table receipts add column operation text collate "C" default 'listBalances' not null;
alter table receipts add constraint receipts_operation_check check (char_length(operation) <= 64) not valid;

-- Of answers with the code OK: the highest number of requests of the partner that were admitted in any span
-- of one second, and the longest answer in milliseconds.
alter table usage add column peak integer, add column slowest_ms integer;
alter table usage add constraint usage_peak_check check (peak > 0 and slowest_ms >= 0) not valid;
