import { type IncomingMessage, ServerResponse } from 'node:http'

/**
 * A text with as many bytes as characters is ASCII, which is the same in Latin-1: Node writes that as it is, where it encodes UTF-8 a character
 * at a time, into memory for three bytes of each.
 */
const isAscii = (chunk: unknown): boolean => typeof chunk === 'string' && Buffer.byteLength(chunk) === chunk.length

export class AsciiResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override end(...[chunk, encoding, ended]: unknown[]): this {
    return Reflect.apply(super.end, this, [chunk, encoding ?? (isAscii(chunk) ? 'latin1' : undefined), ended])
  }
}
