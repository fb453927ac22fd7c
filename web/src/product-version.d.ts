/** The version in the root's package.json, such as `0.1.0`. vite.config.ts defines it. */
declare const PRODUCT_VERSION: string
