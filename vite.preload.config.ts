import { defineConfig } from 'vite';

/** The preload script: one CommonJS file, since a sandboxed window loads nothing else. */
export default defineConfig({
  publicDir: false,
  cacheDir: 'build/cache/vite-preload',
  build: {
    outDir: 'build/app/preload',
    emptyOutDir: true,
    target: 'chrome140',
    minify: false,
    lib: { entry: 'src/main/preload/preload.ts', formats: ['cjs'], fileName: () => 'preload.cjs' },
    rolldownOptions: { external: ['electron'] },
  },
});
