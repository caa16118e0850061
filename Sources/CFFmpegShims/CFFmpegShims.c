#define _GNU_SOURCE
#include "CFFmpegShims.h"

#include <libavutil/error.h>
#include <libavutil/log.h>
#include <pthread.h>

int CFFmpegShims_errorAgain(void) { return AVERROR(EAGAIN); }
int CFFmpegShims_errorInvalidArgument(void) { return AVERROR(EINVAL); }
int CFFmpegShims_errorNoMemory(void) { return AVERROR(ENOMEM); }
int CFFmpegShims_errorEndOfFile(void) { return AVERROR_EOF; }
int CFFmpegShims_errorExit(void) { return AVERROR_EXIT; }
int CFFmpegShims_errorInvalidData(void) { return AVERROR_INVALIDDATA; }

int64_t CFFmpegShims_noTimestamp(void) { return AV_NOPTS_VALUE; }

static int refuseToOpen(
    AVFormatContext *context, AVIOContext **io, const char *url, int flags, AVDictionary **options) {
    (void)context;
    (void)url;
    (void)flags;
    (void)options;
    *io = NULL;
    return AVERROR(EPERM);
}

void CFFmpegShims_confine(AVFormatContext *context, int maximumStreamCount) {
    context->io_open = refuseToOpen;
    context->max_streams = maximumStreamCount;
}

int64_t CFFmpegShims_frameDuration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_MAJOR >= 58
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

int CFFmpegShims_frameChannelCount(const AVFrame *frame) { return frame->ch_layout.nb_channels; }

int CFFmpegShims_parametersChannelCount(const AVCodecParameters *parameters) {
    return parameters->ch_layout.nb_channels;
}

int CFFmpegShims_frameIsCorrupt(const AVFrame *frame) { return (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0; }

int CFFmpegShims_packetIsKey(const AVPacket *packet) { return (packet->flags & AV_PKT_FLAG_KEY) != 0; }

void CFFmpegShims_silenceLog(void) { av_log_set_level(AV_LOG_QUIET); }

int CFFmpegShims_threadTypes(void) { return FF_THREAD_FRAME | FF_THREAD_SLICE; }
int CFFmpegShims_strictCompliance(void) { return FF_COMPLIANCE_STRICT; }

void CFFmpegShims_nameThread(const char *name) { pthread_setname_np(pthread_self(), name); }
