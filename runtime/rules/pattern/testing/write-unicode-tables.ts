import { writeFileSync } from 'node:fs';
import { readVendorTables } from './vendor-tables.ts';

// Run after a change of the re2 version: sh hack/run runtime/rules/pattern/testing/write-unicode-tables.ts
const target = new URL('../unicode/re2-tables.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(readVendorTables(), null, 2)}\n`);
