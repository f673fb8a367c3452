import { useNow } from '../lib/clock.ts'
import { fullTime, remainingText, shortTime } from '../lib/time.ts'

/** Near times in words, kept current; the exact one on hover. */
export const Time = ({ at }: { at: string }) => {
  useNow(30_000)
  return (
    <time dateTime={at} title={fullTime(at)} className="nowrap">
      {shortTime(at)}
    </time>
  )
}

export const ExactTime = ({ at }: { at: string }) => <time dateTime={at}>{fullTime(at)}</time>

/** Counts down in place. It is not a live region, so a screen reader does not announce every second. */
export const Countdown = ({ to, over = 'Expired', suffix = '' }: { to: string; over?: string; suffix?: string }) => {
  const time = useNow(1000)
  const left = Date.parse(to) - time
  return (
    <time dateTime={to} title={fullTime(to)} className="nowrap">
      {left > 0 ? remainingText(left) + suffix : over}
    </time>
  )
}
