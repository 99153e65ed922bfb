-- The changes of the keys and grants of a partner, and of the grants of a customer.
create index concurrently if not exists audit_log_of_partner on audit_log
  ((details ->> 'partner_id'), at, seq);
create index concurrently if not exists audit_log_of_customer on audit_log
  ((details ->> 'customer_id'), at, seq);
