import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { CurrentUser, type User } from './auth.js';
import { PathUuid } from './path-params.js';
import { Problems } from './problems.decorator.js';
import { ticketErrors } from './ticket.errors.js';
import { TicketView } from './ticket.view.js';
import { Tickets } from './tickets.js';

/** Served under every policy: what was accepted before a change of it is still told. */
@Controller('v1/me/tickets')
export class TicketController {
  constructor(private readonly tickets: Tickets) {}

  @Get(':id')
  @ApiOkResponse({ type: TicketView })
  @Problems(ticketErrors.TICKET_NOT_FOUND)
  find(@PathUuid('id') id: string, @CurrentUser() user: User): Promise<TicketView> {
    return this.tickets.find(id, user.id);
  }
}
