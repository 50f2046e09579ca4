export { openLogFile, type LogFile, type LogLevel } from './log-file.ts';
