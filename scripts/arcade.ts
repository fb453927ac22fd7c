/** `npm run arcade -- …`, `npm run import`, `npm run seed`: the server's command line. Relative paths are relative to INIT_CWD. */
await import(new URL('../server/src/cli/arcade.ts', import.meta.url).href)
