import { existsSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const entries = ['cli', 'main'].filter((name) => existsSync(`src/main/${name}.ts`));

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** Main: ES modules for Node 20; packages stay in node_modules, only our own files are bundled. */
export default defineConfig({
  publicDir: false,
  define: { __DORMOUSE_VERSION__: JSON.stringify(version) },
  cacheDir: 'build/cache/vite-main',
  build: {
    ssr: true,
    outDir: 'build/app/main',
    emptyOutDir: true,
    target: 'node20',
    minify: false,
    sourcemap: true,
    rolldownOptions: {
      input: Object.fromEntries(entries.map((name) => [name, `src/main/${name}.ts`])),
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
});
