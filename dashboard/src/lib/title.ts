import { useEffect } from 'react'
import { createStore } from './store.ts'

/** Number of pending approvals, for the tab's title and icon. */
export const waitingCount = createStore(0)

let page = ''

const render = () => {
  const count = waitingCount.get()
  document.title = `${count > 0 ? `(${count}) ` : ''}${page === '' ? '' : `${page} · `}Payments`
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  const href = count > 0 ? '/icon-waiting.svg' : '/icon.svg'
  if (icon && icon.getAttribute('href') !== href) icon.href = href
}
waitingCount.subscribe(render)

/** The tab's title, which a screen reader announces when the page changes. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    page = title
    render()
  }, [title])
}
