package dev.llmresilience.aop

import dev.llmresilience.LlmCall
import dev.llmresilience.LlmRetry
import java.io.UncheckedIOException
import java.net.ConnectException
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

/** Annotated suspending functions, the first attempts of which fail. */
open class SuspendingChat {

    private val attempts = AtomicInteger()

    private val failures = AtomicInteger()

    private val providers = CopyOnWriteArrayList<String>()

    open fun failing(times: Int): SuspendingChat = apply { failures.set(times) }

    open fun attempts() = attempts.get()

    open fun providers(): List<String> = providers

    private suspend fun attempt(question: String): String {
        // Goes on on another thread, as a client does that does not block.
        return withContext(Dispatchers.Default) {
            if (attempts.incrementAndGet() <= failures.get()) {
                throw UncheckedIOException(ConnectException("refused"))
            }
            "answer to $question"
        }
    }

    @LlmRetry("anthropic")
    open suspend fun ask(question: String): String = attempt(question)

    @LlmRetry("anthropic")
    open suspend fun askForNothing(question: String) {
        attempt(question)
    }

    @LlmRetry("anthropic")
    open suspend fun askInVain(question: String): String? {
        attempt(question)
        return null
    }

    @LlmRetry("anthropic")
    open suspend fun words(question: String): Flow<String> {
        val answer = attempt(question)
        return flow { answer.split(' ').forEach { emit(it) } }
    }

    @LlmRetry("anthropic")
    open fun stream(question: String): Flow<String> = flow {
        attempt(question).split(' ').forEach { emit(it) }
    }

    @LlmRetry("anthropic", fallbackMethod = "otherwise")
    open suspend fun askOr(question: String): String = attempt(question)

    open suspend fun otherwise(question: String, failure: Throwable): String =
        withContext(Dispatchers.Default) { "$question: ${failure.cause?.message}" }

    @LlmRetry("anthropic", failover = ["openai"])
    open suspend fun askEither(question: String): String {
        val context = currentCoroutineContext()[ReactorContext]!!.context
        providers.add(context.get<LlmCall>(LlmCall.CONTEXT_KEY).provider())
        return attempt(question)
    }

    @LlmRetry("anthropic", deduplicate = "#question")
    open suspend fun askTogether(question: String, gate: CompletableDeferred<Unit>): String {
        attempts.incrementAndGet()
        gate.await()
        return "answer to $question"
    }
}

/** The annotation stands on the interface, and the class is final. */
interface SuspendingApi {

    @LlmRetry("anthropic")
    suspend fun ask(question: String): String
}

class SuspendingClient : SuspendingApi {

    private var attempts = 0

    override suspend fun ask(question: String): String {
        if (++attempts <= 2) {
            throw UncheckedIOException(ConnectException("refused"))
        }
        return "answer to $question"
    }
}

/** Calls from code that does not suspend. */
class Calls(private val chat: SuspendingChat) {

    fun ask() = runBlocking { chat.ask("q") }

    fun askForNothing() = runBlocking { chat.askForNothing("q") }

    fun askInVain() = runBlocking { chat.askInVain("q") }

    fun words() = runBlocking { chat.words("q").toList() }

    fun stream() = runBlocking { chat.stream("q").toList() }

    fun askOr() = runBlocking { chat.askOr("q") }

    fun askEither() = runBlocking { chat.askEither("q") }

    fun askTogether() = runBlocking {
        val gate = CompletableDeferred<Unit>()
        val answers = (1..5).map { async { chat.askTogether("q", gate) } }
        gate.complete(Unit)
        answers.awaitAll()
    }

    companion object {

        @JvmStatic
        fun ask(api: SuspendingApi) = runBlocking { api.ask("q") }
    }
}
