-- Which policies and models ask for a second approval.
create table approval_rules (
  target_type text not null check (target_type in ('policy', 'model')),
  target_id uuid not null,
  primary key (target_type, target_id)
);

-- Commands that were refused for want of an approval, and who approved them.
create table approvals (
  approval_id uuid primary key,
  kind text not null check (kind in ('binding.apply', 'binding.unbind', 'policy.archive')),
  target_type text not null check (target_type in ('policy', 'model')),
  target_id uuid not null,
  -- SHA-256 of what the command writes and of the state that it replaces.
  digest text not null,
  -- Policy, version and definition digest that the command asks for, as JSON text; null for an unbind.
  after text,
  requester text not null,
  requester_author text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  approver text,
  -- Author and groups of the approver as JSON text: the right is asked again when the approval is used.
  approver_origin text,
  approved_at timestamptz,
  -- The command that used the approval. A command that is withdrawn gives it back.
  used_by uuid references operations (operation_id) on delete set null,
  check ((approver is null) = (approved_at is null)),
  check (approver is distinct from requester)
);

create index approvals_requests on approvals (requester, digest);
create index approvals_commands on approvals (used_by);
create index approvals_age on approvals (expires_at);
