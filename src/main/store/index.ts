export { ConversationFiles } from './conversation-files.ts';
export type { ConversationRecord } from './conversation-records.ts';
export { DataFolder } from './data-folder.ts';
export { DataFolderLock, type DataFolderOwner } from './data-folder-lock.ts';
export { JsonFile } from './json-file.ts';
export { LoadMarker, type UnfinishedLoad } from './load-marker.ts';
export { openLogFile, type LogFile, type LogLevel } from './log-file.ts';
export { SecretsFile, type Secret, type SecretCipher } from './secrets-file.ts';
export { SettingsFile } from './settings-file.ts';
