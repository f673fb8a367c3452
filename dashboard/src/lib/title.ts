import { useEffect } from 'react'
import { createStore } from './store.ts'

/** How many approvals wait for the reader: in the tab's title and its icon, to be seen from another tab. */
export const waitingCount = createStore(0)

let page = ''

const render = () => {
  const count = waitingCount.get()
  document.title = `${count > 0 ? `(${count}) ` : ''}${page === '' ? '' : `${page} · `}Payments`
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  const wanted = count > 0 ? '/icon-waiting.svg' : '/icon.svg'
  if (icon && icon.getAttribute('href') !== wanted) icon.href = wanted
}
waitingCount.subscribe(render)

/** The tab's title, and with it what a screen reader says when the page changes. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    page = title
    render()
  }, [title])
}
