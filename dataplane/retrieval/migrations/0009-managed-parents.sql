-- Whether the resource of a collection declares its place; a collection whose resource does not is moved over HTTP.
alter table collections add column parent_managed boolean not null default false;
