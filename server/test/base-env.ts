/** The variables that a process of a test inherits. All others would change what it does. */
export const BASE_ENV = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}
