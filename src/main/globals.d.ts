/** From package.json, put in at build time. */
declare const __DORMOUSE_VERSION__: string;
