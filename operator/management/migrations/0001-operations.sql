-- Commands of the policy management API. Resources are the truth; this is what clients may ask about commands.
create table operations (
  operation_id uuid primary key,
  kind text not null check (kind in ('policy.create', 'policy.update', 'binding.apply', 'binding.unbind')),
  state text not null check (state in ('pending', 'running', 'succeeded', 'failed')),
  target_type text not null check (target_type in ('policy', 'model')),
  target_id uuid not null,
  trace_id text not null,
  -- What the command writes, as JSON text; null once the operation has ended.
  write text,
  accepted boolean not null default false,
  written_uid text,
  written_generation bigint,
  result text,
  failure_code text,
  failure_message text,
  -- Until then whoever has it carries it on, and nobody else.
  leased_until timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (state in ('succeeded', 'failed') or write is not null),
  check ((state = 'failed') = (failure_code is not null))
);

create index operations_open on operations (created_at) where state in ('pending', 'running');
create index operations_open_targets on operations (target_id) where state in ('pending', 'running');
create index operations_ended on operations (updated_at) where state in ('succeeded', 'failed');

create table idempotency_keys (
  subject text not null,
  key text not null,
  fingerprint text not null,
  operation_id uuid not null references operations (operation_id) on delete cascade,
  created_at timestamptz not null,
  primary key (subject, key)
);

create index idempotency_keys_operations on idempotency_keys (operation_id);
create index idempotency_keys_age on idempotency_keys (created_at);
