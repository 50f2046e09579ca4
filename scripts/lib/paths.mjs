import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const nodeModules = join(root, 'node_modules');
export const buildFolder = join(root, 'build');
export const appFolder = join(buildFolder, 'app');
