/** The bare limit of a page (design §9): React with a single heading. */
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'

createRoot(document.querySelector('#app')!).render(createElement('h1', null, 'Arcade Console'))
