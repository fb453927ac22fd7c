/** As web/vite.config.ts, as far as there is anything to say of one file. The server wants to know which files a page needs besides: none. */
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
