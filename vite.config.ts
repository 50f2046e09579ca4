import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The page: one static folder, no inline scripts, so that a strict content security policy can hold. */
export default defineConfig({
  root: 'src/renderer',
  base: './',
  publicDir: false,
  cacheDir: '../../build/cache/vite',
  plugins: [react()],
  build: {
    outDir: '../../build/app/renderer',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
  },
});
