export const root: string;
export const nodeModules: string;
export const buildFolder: string;
export const appFolder: string;
