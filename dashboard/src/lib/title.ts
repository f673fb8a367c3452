import { useEffect } from 'react'

/** The tab's title, and with it what a screen reader says when the page changes. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Payments`
  }, [title])
}
