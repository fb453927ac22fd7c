/** The settings of web/vite.config.ts that matter for a single file. The server reads first-pages.json, which lists no other files here. */
import { defineConfig } from 'vite'

export default defineConfig({
  build: { target: 'es2023', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  plugins: [
    {
      name: 'first-pages',
      generateBundle() {
        this.emitFile({
          type: 'asset',
          fileName: 'first-pages.json',
          source: JSON.stringify({ signedIn: [], signedOut: [], later: [] }),
        })
      },
    },
  ],
})
