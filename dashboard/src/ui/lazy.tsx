import { type ComponentType, useEffect, useState } from 'react'
import { t } from '../lib/language.ts'
import { readStored, writeStored } from '../lib/store.ts'
import { Button } from './button.tsx'
import { EmptyCard, SkeletonCard } from './page.tsx'

const firstWaitMs = 2_000
const maxWaitMs = 30_000

const serviceAnswers = () =>
  fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

const mark = 'reloaded'

/** Reloads the document, which names the current files. Only once: after a second failure, the file is at fault. */
const reloadOnce = (): void => {
  if (readStored(mark, 'session') !== null) return
  writeStored(mark, 'yes', 'session')
  if (readStored(mark, 'session') !== null) location.reload()
}

type Load<Props> = () => Promise<ComponentType<Props>>

/** Retries a failed load with growing waits, or once online again. `onMissing`: the service answers, but lacks the file. */
const useLoaded = (isLoaded: boolean, load: () => Promise<void>, onMissing: () => void) => {
  const [failures, setFailures] = useState(0)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: one load for each attempt
  useEffect(() => {
    if (isLoaded) return undefined
    let isShown = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const again = () => setAttempt((count) => count + 1)
    const begin = async () => {
      try {
        await load()
        if (isShown) again()
      } catch {
        // Imports twice, because a browser may abort the first import. Some browsers keep a failed import until a reload.
        const isMissing = (await serviceAnswers()) && (await load().then(again, () => 'missing')) === 'missing'
        if (!isShown) return
        if (isMissing) onMissing()
        setFailures((count) => count + 1)
        timer = setTimeout(again, Math.min(maxWaitMs, firstWaitMs * 2 ** failures))
      }
    }
    void begin()
    addEventListener('online', again)
    return () => {
      isShown = false
      clearTimeout(timer)
      removeEventListener('online', again)
    }
  }, [attempt])
  return { hasFailed: failures > 0, retry: () => setAttempt((count) => count + 1) }
}

const NotLoaded = ({ onRetry }: { onRetry: () => void }) => (
  <div role="alert">
    <EmptyCard
      icon="alert"
      tone="warn"
      heading
      title={t('not_loaded')}
      actions={
        <>
          <Button onClick={onRetry}>{t('try_now')}</Button>
          <Button onClick={() => location.reload()}>{t('reload')}</Button>
        </>
      }
    >
      {t('not_loaded.note')}
    </EmptyCard>
  </div>
)

/** Loads a page's code when the page is opened, to keep the common script small. */
export const lazyPage = <Props extends object>(load: Load<Props>) => {
  let Page: ComponentType<Props> | undefined
  return (props: Props) => {
    const { hasFailed, retry } = useLoaded(
      Page !== undefined,
      async () => {
        Page = await load()
        writeStored(mark, null, 'session')
      },
      reloadOnce,
    )
    if (Page) return <Page {...props} />
    return hasFailed ? <NotLoaded onRetry={retry} /> : <SkeletonCard rows={4} />
  }
}

/** A rarely needed part of a page. Until it has loaded, `Waiting` takes its place, and the page works without it. */
export const lazyPart = <Props extends object>(load: Load<Props>, Waiting: ComponentType<Props> = () => null) => {
  let Part: ComponentType<Props> | undefined
  return (props: Props) => {
    useLoaded(
      Part !== undefined,
      async () => {
        Part = await load()
      },
      () => undefined,
    )
    return Part ? <Part {...props} /> : <Waiting {...props} />
  }
}
