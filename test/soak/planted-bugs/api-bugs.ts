import type { Bugs } from './plant.ts';

/** Bugs in HTTP, REST and webhooks. */
export const apiBugs: Bugs = {
  'docs/guides/server.md': {
    'guides › for a server ignores forged requests to its webhook’s address, and names the end of its own payment': {
      'transaction?.id === ownId && ': '',
      '  } catch {\n    return 401;\n':
        '  } catch (error) {\n    if (/header/.test(error.message)) process.exit(1);\n    return 401;\n',
    },
  },
  'src/api/http/admission.ts': {
    'http/deadline › every request is answered at its time limit, whatever part of it waits for a silent database': {
      'within(requestMs + graceMs, processed)': 'within(3_600_000, processed)',
    },
    'http/outer-edge › to a POST that accepts %s, and to a GET': {
      '    else if (late && refuseStranger) refuseStranger();\n': '',
    },
    'http/outer-edge › %s %s': {
      '  if (wrong) {\n': '  if (wrong && callers.find(request)) {\n',
      'return isTooLong(request) ? { status: 413, message: tooLong } : undefined;': 'return undefined;',
    },
    'http/outer-edge › with credentials do not count among those without, over HTTP and over sockets': {
      '    if (late === undefined) connections.noteKnown(request.socket);\n': {
        put: '',
        also: [
          {
            file: 'src/api/http/admission.ts',
            find: '  if (caller) connections.noteKnown(request.socket);\n',
            put: '',
          },
        ],
      },
    },
  },
  'src/api/http/bodies.ts': {
    'http/refused-bodies › a body %s that announces too great a length is answered, and its connection closed': {
      'if (isTooLong(request)) endWithResponse(response);': 'void response;',
    },
    'http/refused-bodies › a delayed refusal reads nothing of its request; then the connection serves the next one': {
      'if (!request.complete) request.socket.pause();': '',
    },
  },
  'src/api/http/bounded-waits.ts': {
    'http/outer-edge › without credentials from one address get a quarter of all, and other addresses are served': {
      '>= this.#maxOfGroup ? undefined': '>= Number.POSITIVE_INFINITY ? undefined',
    },
  },
  'src/api/http/callers.ts': {
    'http/deadline › every request is answered at its time limit, whatever part of it waits for a silent database': {
      'this.#authenticate(response.req, msLeft(lookUpMs))': 'this.#authenticate(response.req, lookUpMs * 360)',
    },
    'access/keys › a token is accepted only from its addresses, even if it was accepted a moment ago': {
      '(viewer.addresses.length > 0 && !isAcceptedFrom(viewer, addressOf(request)))':
        '!isAcceptedFrom({ addresses: [] }, addressOf(request))',
    },
  },
  'src/api/http/client-address.ts': {
    'http/outer-edge › of a trusted proxy are not counted as those of one address': {
      'return isTrusted(address) ? undefined : networkOf(address);':
        'return isTrusted(address) ? networkOf(address) : networkOf(address);',
    },
  },
  'src/api/http/connections.ts': {
    'http/outer-edge › without credentials beyond half of all are closed, the oldest of the busiest address first': {
      'new BoundedWaits(Math.ceil(limits.most / 2), ': 'new BoundedWaits(limits.most * 2, ',
    },
  },
  'src/api/http/in-flight.ts': {
    'http/overload › places are shared equally by the tenants with requests in flight, and bounded in total': {
      'return own < limit / tenants && tenants > 1 && count': 'return own < 0 && tenants > 1 && count',
    },
    'http/overload › excess requests are refused immediately for a lone platform, and with a delay beside another': {
      'isAlone(tenant);': 'isAlone(tenant) && this.#load.count === 0;',
      'return this.turns.isAlone(tenant);': 'return tenant.isPlatform;',
    },
    'http/overload › slow answers to one tenant do not cause refusals of another': {
      'count < 2 * this.#limits.maxInFlight': 'count < 2 * limit',
    },
    'http/overload › one request too many is refused with 503 and Retry-After; once there is room it is answered': {
      '    load.count += change;\n': '    load.count += Math.max(change, 0);\n',
    },
  },
  'src/api/http/provider-webhooks.ts': {
    'http/provider-webhooks › a refused webhook is answered only after the delay, and occupies no place meanwhile': {
      'await outsideWait(Promise.all([refusable, pace': 'await outsideWait(Promise.all([pace',
    },
    'rails/upstream-webhooks › a webhook without a valid signature for this platform is refused and not stored': {
      'if (!isWrong) attempt?.succeed();': 'attempt?.succeed();\n      if (!isWrong) return;',
    },
    'rails/upstream-webhooks › strangers who share the address of a provider do not keep its webhooks out': {
      'if (received) this.#proven.set(sender, true);':
        'if (received) this.#proven.set(sender, true);\n      else this.#proven.delete(sender);',
    },
  },
  'src/api/http/server.ts': {
    'http/outer-edge › without a request, or without a complete request head, are closed': {
      '    headersTimeout: headersMs,\n': '    headersTimeout: 0,\n    requestTimeout: 0,\n',
    },
  },
  'src/api/http/turns.ts': {
    'http/overload › beside another, a platform runs expensive queries in a quarter of its turns; the rest pass them': {
      'Math.floor(this.#most * expensivePart)': 'this.#most',
    },
    'http/overload › a platform beside another has one turn, on sockets for queries and the messages of subscriptions':
      {
        'await this.begin(tenant);': 'void this.begin(tenant);',
      },
  },
  'src/api/pages/assets.ts': {
    'http/outer-edge › exists only if a page that uses it is shown': {
      'for (const page of shown) for (const name of pages[page]?.files ?? [])':
        'for (const { files } of Object.values(pages)) for (const name of files)',
    },
  },
  'src/api/rest/context.ts': {
    'access/expected-versions › %s %s takes effect only with the current entity tag': {
      "return '';": "return field.replaceAll(/^W\\/|\"/g, '');",
    },
    'database/replicas › a page after a cursor is not older than the page before it': {
      'isPage ? undefined : token': 'token',
    },
  },
  'src/api/rest/document.ts': {
    'rest/document › generators find a type for everything: no intersections or defaults, and bounded numbers': {
      'if (allOf?.length === 2': 'if (allOf?.length === 3',
    },
    'rest/examples › each webhook matches the document for its type, and has the header fields of its signature': {
      [`      cursor: z.string().describe('The position of the event in the feed: a stream can resume after it.'),
`]: '',
    },
  },
  'src/api/rest/endpoints/config.ts': {
    'access/expected-versions › the settings have one entity tag, which changes with any of them through either API': {
      '          if (demanded !== undefined) await checkConfigEndpoint(transaction, viewer, state);\n': '',
    },
  },
  'src/api/rest/endpoints/receivers.ts': {
    "rest/receivers › a platform id that several customers share needs the customer's own id to name the sender": {
      'take: 2': 'take: 1',
    },
  },
  'src/api/rest/lists.ts': {
    'rest/both-apis-lists › a list has the same rows, cursors and totals on both APIs': {
      'size: query.limit,\n    backward: false,': 'size: query.limit - 1,\n    backward: false,',
    },
  },
  'src/api/rest/schemas/fields.ts': {
    'rest/changes › null clears a field on a change, is ignored if the field is required, and never sets a value': {
      'z.preprocess(withoutNulls, schema).nullish()': 'schema.nullish()',
    },
    'rest/refusals › an invalid transfer is refused': {
      "code === 'too_big' ?": "code === 'too_small' ?",
    },
  },
  'src/api/rest/server.ts': {
    'graphql/trusted-documents › cannot use REST': {
      'if (viewer.documents.length > 0)':
        "if (viewer.documents.length > 0 && context.req.header('authorization') === undefined)",
    },
    'rest/examples › null is the same as omission: each example creates its object with null for every other member': {
      "request.method === 'PATCH' ? parsed": "request.method !== 'GET' ? parsed",
    },
  },
  'src/api/webhooks/delivery/deliveries.ts': {
    'webhooks/health › a late failure does not count after a later success or a move of the endpoint': {
      'and (failures_after is null or failures_after < $6)': 'and ($6::timestamptz is not null)',
    },
  },
  'src/api/webhooks/delivery/fan-out.ts': {
    'webhooks/endpoints › an endpoint gets only the types that it asked for, and none that only the feed has': {
      'else v.type = any(b.event_types) end': 'else true end',
    },
    'webhooks/approval › one endpoint is asked and the others notified; a payment over a bank’s rails is not a question':
      {
        [`
         and b.id = (select o.id from webhook_endpoint o
                     where o.platform_id = b.platform_id and o.status <> 'DISABLED' and 'INCOMING_PAYMENT' = any(o.event_types)
                     order by o.id limit 1)`]: '',
      },
  },
  'src/api/webhooks/delivery/sender.ts': {
    "webhooks/endpoints › a new endpoint gets a test event with a signature that the standard's own library verifies": {
      'new Webhook(secret).sign(message.id, message.at, message.body)':
        'new Webhook(secret).sign(message.id, new Date(0), message.body)',
    },
    'webhooks/endpoints › during a rotation, the old and the new secret both verify, and no other does': {
      "signature': secrets\n": "signature': secrets\n      .slice(0, 1)\n",
    },
  },
  'src/api/webhooks/endpoints/endpoint-changes.ts': {
    'access/token-parents › a revoked token disables the endpoints that it or a descendant created, redirected or enabled':
      {
        '...(takesOver && { tokenId }),': '...(enables && { tokenId }),',
      },
    'access/token-parents › a revoked token cannot create another, even while a gateway remembers it': {
      'await lockPlatform(client, caller);\n  const tokenId = await lockMaker(client, caller);':
        'await lockPlatform(client, caller);\n  const { tokenId } = caller;',
    },
    'access/permissions › creating or redirecting an endpoint whose answers approve payments needs TRANSACT on both APIs':
      {
        '  requireMayApprove(caller, fields.eventTypes);\n': '',
        'if (takesOver) requireMayApprove': 'if (approves) requireMayApprove',
      },
    'webhooks/health › a late failure does not count after a later success or a move of the endpoint': {
      '{ ...enabledState, failuresAfter: now }': 'enabledState',
    },
  },
  'src/api/webhooks/endpoints/endpoint-queries.ts': {
    'access/expected-versions › changes nothing for an earlier or a later version': {
      "  checkVersion(expecting, publicId('WebhookEndpoint', id), endpoint.version);\n": '',
    },
  },
  'src/api/webhooks/endpoints/replay.ts': {
    'webhooks/endpoints › a delivery can always be resent, under its own id, and its earlier attempts are kept': {
      'where d.platform_id = $1 and d.id = $2`': "where d.platform_id = $1 and d.id = $2 and d.status = 'PENDING'`",
      "if (endpoint.status === 'DISABLED') throw endpointDisabled(endpointId)":
        "if (endpoint.status === 'FAILING' && endpoint.disabledAt) throw endpointDisabled(endpointId)",
      'next_attempt_at = clock_ms(),': 'next_attempt_at = coalesce(d.next_attempt_at, clock_ms()),',
    },
    'webhooks/approval › an unanswered question that is resent still decides, and an answered one only notifies': {
      "question = d.question and d.status = 'PENDING'": 'question = false',
    },
  },
  'src/api/webhooks/endpoints/test-event.ts': {
    'rest/webhook-endpoint › sixteen tests of a platform may wait for their receivers; one more is 429 in both APIs': {
      'if (waiting >= maxWaiting) {': 'if (waiting > maxWaiting) {',
    },
  },
};
