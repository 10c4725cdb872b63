-- A scrape counts listed agents without a vector of the profile (docs/design/catalogue.md).
create index entries_by_profile on entries (profile_id) where is_listed and vector is not null;
create index entries_refused on entries (profile_id) where is_listed and octet_length(vector) = 0;
