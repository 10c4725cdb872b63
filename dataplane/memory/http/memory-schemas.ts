import { componentSchemas } from '#api/openapi';
import {
  acceptedEventSchema,
  addMemoriesSchema,
  deletedMemoriesSchema,
  deletedMemorySchema,
  eraseUserSchema,
  erasureSchema,
  exportedMemorySchema,
  foundMemoriesSchema,
  memoryErrorSchema,
  memoryEventSchema,
  memoryHealthSchema,
  memoryHistorySchema,
  memoryListSchema,
  memoryRecordSchema,
  searchMemoriesSchema,
  sessionStateSchema,
  setSessionSchema,
  updateMemorySchema,
} from '#contracts/memory';
import { clientMessageSchema, serverAnswerSchema } from '#mcp/message';

const written = {
  AddMemoriesRequest: addMemoriesSchema,
  SearchMemoriesRequest: searchMemoriesSchema,
  UpdateMemoryRequest: updateMemorySchema,
  SetSessionRequest: setSessionSchema,
  EraseUserRequest: eraseUserSchema,
  McpMessage: clientMessageSchema,
} as const;

const read = {
  AcceptedEvent: acceptedEventSchema,
  Event: memoryEventSchema,
  FoundMemories: foundMemoriesSchema,
  Memory: memoryRecordSchema,
  MemoryList: memoryListSchema,
  DeletedMemory: deletedMemorySchema,
  DeletedMemories: deletedMemoriesSchema,
  MemoryHistory: memoryHistorySchema,
  SessionState: sessionStateSchema,
  ExportedUser: exportedMemorySchema,
  Erasure: erasureSchema,
  McpAnswer: serverAnswerSchema,
  Health: memoryHealthSchema,
  Error: memoryErrorSchema,
} as const;

export type MemorySchema = keyof typeof written | keyof typeof read;

/** The schemas of all bodies by name, as components of the OpenAPI document. */
export function memorySchemas(): Readonly<Record<string, unknown>> {
  return componentSchemas({ written, read });
}
