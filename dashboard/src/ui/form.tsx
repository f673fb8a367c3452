import { type ReactNode, useEffect, useRef } from 'react'
import { Submit } from './button.tsx'
import { Failure } from './failure.tsx'
import { Card } from './layout.tsx'
import type { Making } from './use-change.ts'

type FormProps = {
  className?: string
  /** What is typed can be sent. Enter does nothing before that. */
  ready?: boolean
  /** It is being sent: a second Enter does not send it again. Undefined where nothing is sent. */
  busy?: boolean
  onSubmit: () => void
  children: ReactNode
}

/** Two presses within this time are one: the second may come before the page shows that the first is being sent. */
const doublePressMs = 600

/** Its fields name their own mistakes, so the browser's validation is off. */
export const Form = ({ className, ready = true, busy, onSubmit, children }: FormProps) => {
  const sentAt = useRef(Number.NEGATIVE_INFINITY)
  // What has been answered may be sent again at once.
  useEffect(() => {
    if (!busy) sentAt.current = Number.NEGATIVE_INFINITY
  }, [busy])
  return (
    <form
      className={className}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        // A form in a dialog that was opened from another form must not send that one too.
        event.stopPropagation()
        if (!ready || busy || (busy === false && event.timeStamp - sentAt.current < doublePressMs)) return
        sentAt.current = event.timeStamp
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}

type FormCardProps = Pick<FormProps, 'ready' | 'className' | 'children'> & {
  title?: string
  /** What the button says. */
  action: ReactNode
  making: Making
  large?: boolean
}

/** A form that is a card: its fields, what went wrong, and the button that sends it. */
export const FormCard = ({ title, action, making, ready = true, large = false, children, ...form }: FormCardProps) => (
  <Form ready={ready} busy={making.isPending} onSubmit={() => making.mutate()} {...form}>
    <Card
      {...(title !== undefined && { title })}
      footer={
        <Submit size={large ? 'large' : 'normal'} busy={making.isPending} disabled={!ready}>
          {action}
        </Submit>
      }
    >
      {children}
      <Failure error={making.error} />
    </Card>
  </Form>
)
