import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { adviceFor, messageOf } from '../api/advice.ts'
import { useIdempotencyKey } from '../lib/idempotency.ts'
import { Submit } from './button.tsx'
import { Card, Failure } from './page.tsx'
import { announce } from './toast.tsx'

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

/** A change that a form makes: how it is sent, and what is shown of it meanwhile and after it has failed. */
export type Making = { isPending: boolean; error: unknown; mutate: () => void }

type Settings<Result, Input> = {
  /** What is announced once the change is made. */
  announcement?: string | ((result: Result) => string)
  /** The queries to read again, by the first part of their keys: after a failure too, as a part of the change may have been made. */
  outdates?: readonly string[]
  /** The query that the result answers. */
  keeps?: (result: Result) => { queryKey: QueryKey }
  onDone?: (result: Result, input: Input) => void
  /** Where the page has no place for a failure, it is announced. */
  announcesFailure?: boolean
}

/** A change that the service makes. `keyed`: a body with its idempotency key, the same one while the body is. */
export const useChange = <Result, Input = void>(
  change: (keyed: ReturnType<typeof useIdempotencyKey>, input: Input) => Promise<Result>,
  { announcement, outdates = [], keeps, onDone, announcesFailure = false }: Settings<Result, Input> = {},
) => {
  const client = useQueryClient()
  const keyed = useIdempotencyKey()
  return useMutation({
    mutationFn: (input: Input) => change(keyed, input),
    onSuccess: (result, input) => {
      if (announcement !== undefined) announce(typeof announcement === 'string' ? announcement : announcement(result))
      if (keeps) client.setQueryData(keeps(result).queryKey, result)
      onDone?.(result, input)
    },
    onError: (error) => {
      if (announcesFailure) announce(`${messageOf(error)} ${adviceFor(error)}`, 'bad')
    },
    onSettled: () => {
      for (const name of outdates) void client.invalidateQueries({ queryKey: [name] })
    },
  })
}
